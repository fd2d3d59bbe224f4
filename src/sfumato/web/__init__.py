"""The workbench: from a file to a release that was judged, in a browser on this machine."""
