/**
 * Which `Host` and `Origin` headers a server accepts. A web page that a browser shows can send requests to this machine under
 * a name that its author controls (DNS rebinding); then `Host` has that name, and `Origin` the page's. Pure.
 */

/** The addresses that requests may name. */
export interface Addresses {
  /**
   * Values of `Host`, without a port for every port, such as `localhost` or `example.org:8443`; IPv6 addresses in brackets.
   */
  readonly hosts: ReadonlyArray<string>
  /** Origins of web pages, such as `https://example.org`, beside those of the server's own host. */
  readonly origins: ReadonlyArray<string>
}

/** The names of the loopback interface, and no page of another server. */
export const loopback: Addresses = { hosts: ["localhost", "127.0.0.1", "[::1]"], origins: [] }

/** A host name, an IPv4 address or an IPv6 address in brackets; with a port or without. */
const hostHeader = /^(\[[0-9a-f:.]+\]|[0-9a-z](?:[0-9a-z._-]*[0-9a-z])?)(?::\d{1,5})?$/

/** Why a request was refused, with the header at fault. */
export interface AddressFault {
  readonly status: 400 | 403
  readonly field: "Host" | "Origin"
  readonly message: string
}

const fault = (
  status: AddressFault["status"],
  field: AddressFault["field"],
  message: string,
): AddressFault => ({ status, field, message })

const hostFault = (host: string, { hosts }: Addresses): AddressFault | undefined => {
  const name = hostHeader.exec(host)?.[1]
  if (name === undefined)
    return fault(400, "Host", "expected one host name, with or without a port")
  return hosts.some((allowed) => {
    const lower = allowed.toLowerCase()
    return lower === host || lower === name
  })
    ? undefined
    : fault(403, "Host", "this host name is not one of the server's")
}

/** `null` is the origin of sandboxed pages, of files and of redirects: nobody can say whose it is. */
const originFault = (
  origin: string,
  host: string,
  { origins }: Addresses,
): AddressFault | undefined =>
  [`http://${host}`, `https://${host}`, ...origins].some(
    (allowed) => allowed.toLowerCase() === origin.toLowerCase(),
  )
    ? undefined
    : fault(403, "Origin", "this web page may not send requests to the server")

/**
 * The first fault of the addresses of a request; undefined if it may be served. A request without `Origin` does not come from
 * a web page; one whose origin is the host that it was sent to comes from a page of this server.
 */
export const addressFault = (
  headers: Readonly<Record<string, string | undefined>>,
  allowed: Addresses,
): AddressFault | undefined => {
  const host = (headers["host"] ?? "").toLowerCase()
  const { origin } = headers
  return (
    hostFault(host, allowed) ??
    (origin === undefined ? undefined : originFault(origin, host, allowed))
  )
}
