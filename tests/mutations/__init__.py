"""The mutation check of the audit: releases changed at random, judged by it and by the oracle."""
