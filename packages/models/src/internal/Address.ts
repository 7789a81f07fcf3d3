/** Addresses of requests, and what an error may quote of them. Pure. */

/**
 * The address of a path at a provider. The path is inserted before the query of the configured
 * address; its fragment is dropped.
 */
export const endpointOf = (baseUrl: string, path: string): string => {
  const [, base = "", query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(baseUrl) ?? []
  return `${base.replace(/\/+$/, "")}/${path}${query}`
}

/**
 * Scheme, host and path. User, query and fragment are left out, because they may contain a secret.
 */
export const shownAddress = (address: string): string => {
  if (!URL.canParse(address)) return "<invalid URL>"
  const { host, pathname, protocol } = new URL(address)
  return `${protocol}//${host}${pathname}`
}

/**
 * The parts of an address that no text may quote: user, password, the values of its query, and the
 * fragment.
 */
export const addressSecrets = (address: string): ReadonlyArray<string> => {
  if (!URL.canParse(address)) return []
  const { hash, password, searchParams, username } = new URL(address)
  return [username, password, hash.slice(1), ...searchParams.values()]
}
