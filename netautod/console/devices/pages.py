"""All pages of devices."""

from netautod.console.devices import acting, bulk, editing, listing, showing

PAGES = (*listing.PAGES, *bulk.PAGES, *editing.PAGES, *showing.PAGES, *acting.PAGES)
