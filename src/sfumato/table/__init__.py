"""Tables as immutable integer columns: encode, decode, groups of rows."""

from sfumato.table.column import Column
from sfumato.table.decode import decode
from sfumato.table.encode import encode
from sfumato.table.groups import Groups
from sfumato.table.table import Table

__all__ = ["Column", "Groups", "Table", "decode", "encode"]
