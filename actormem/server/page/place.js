// Where one is: the part of the address after `#`. Ids are opaque, so they stand as parameters, never in a path.

/** The place an address names: `{view, user, tenant, session, turn, …}`. */
export function placeOf(hash) {
  const [, view = "", query = ""] = /^#\/?([a-z]*)\??(.*)$/s.exec(hash) ?? [];
  return { ...Object.fromEntries(new URLSearchParams(query)), view: view || "people" };
}

/** The address of a place; what is empty is left out. */
export function link(view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  return `#/${view}?${new URLSearchParams(given)}`;
}

/** Whose memory a place is about, as the API takes it. */
export const ownerOf = (place) => ({
  ...(place.user ? { user: place.user } : {}),
  ...(place.tenant ? { tenant: place.tenant } : {}),
});
