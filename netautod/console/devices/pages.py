"""All pages of devices."""

from netautod.console.devices import actions as acting
from netautod.console.devices import bulk, editing, listing
from netautod.console.devices import details as showing

PAGES = (*listing.PAGES, *bulk.PAGES, *editing.PAGES, *showing.PAGES, *acting.PAGES)
