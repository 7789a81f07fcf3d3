/**
 * Where a request for a conversation of another process goes: to the address that the operator of that process published.
 * Nothing but the conversation's id, the name of the route and known parameters is taken from the request, so a client
 * decides neither the server nor the form of the address. Pure.
 */

/** The paths of the routes that the owner of a conversation has to serve. */
const ownersRoute =
  /^\/v1\/conversations\/[0-9a-f-]{36}(?:\/(?:turns|interrupt|fork|archive|unarchive|questions(?:\/\d{1,15})?))?$/i

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

const hostOf = (authority: string): string => authority.toLowerCase().replace(/:\d+$/, "")

/**
 * The address with the route of the request, or undefined if the client must not be sent there: the published text is not
 * an `http` or `https` address without credentials, query and fragment, or it is one of the loopback interface, and the
 * client has named this server differently, so that the interface of its own machine would be another one.
 *
 * @param url the base address of the process that has the conversation
 * @param request path and query of the request
 * @param host the header `Host` of the request
 */
export const redirectTo = (
  url: string | undefined,
  request: string,
  host: string | undefined,
): string | undefined => {
  const [path = "", query = ""] = request.split("?")
  if (url === undefined || !ownersRoute.test(path) || !URL.canParse(url)) return undefined
  const { hash, hostname, href, password, protocol, search, username } = new URL(url)
  if (protocol !== "https:" && protocol !== "http:") return undefined
  if (`${username}${password}${search}${hash}` !== "") return undefined
  if (loopbackHosts.has(hostname) && !loopbackHosts.has(hostOf(host ?? ""))) return undefined
  const wait = new URLSearchParams(query).get("wait") === "true" ? "?wait=true" : ""
  return `${href.endsWith("/") ? href.slice(0, -1) : href}${path}${wait}`
}
