/**
 * Whether a server may listen on an address. A server runs commands, so beyond this machine nobody may reach it without
 * credentials, and nobody may read them on the way. Pure.
 */
import type { HttpOptions } from "../args/HttpOptions.ts"
import type { ListenAddress } from "../args/Addresses.ts"

/** True if only programs of this machine can connect to the host. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)

/** The host as an authority has it: IPv6 in brackets. */
export const authorityOf = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** True if the server itself encrypts. */
export const isEncrypted = ({ scheme }: ListenAddress): boolean =>
  scheme === "https" || scheme === "wss"

const filesProblem = (address: ListenAddress, options: HttpOptions): string | undefined => {
  const files = [options.tls_certificate, options.tls_key].filter((file) => file !== undefined)
  if (isEncrypted(address) && files.length < 2) {
    return `\`${address.scheme}\` needs \`http.tls_certificate\` and \`http.tls_key\``
  }
  return !isEncrypted(address) && files.length > 0
    ? `\`http.tls_certificate\` and \`http.tls_key\` have no effect with \`${address.scheme}\`: listen on \`${address.scheme}s\``
    : undefined
}

/** Why the server must not listen there, in one line with what to do; undefined if it may. */
export const bindProblem = (address: ListenAddress, options: HttpOptions): string | undefined => {
  const files = filesProblem(address, options)
  if (files !== undefined || isLoopback(address.host)) return files
  if (options.authentication === "none") {
    return `refusing to listen on ${address.host} without authentication: \`http.authentication = "none"\` is for the loopback interface; set "token", or "proxy" if a proxy in front authenticates`
  }
  return isEncrypted(address) || options.tls_by_proxy === true
    ? undefined
    : `refusing to listen on ${address.host} without TLS: listen on \`${address.scheme}s\` with \`http.tls_certificate\` and \`http.tls_key\`, or set \`http.tls_by_proxy = true\` if a proxy in front encrypts`
}

/** True for an address that stands for every interface, and that no client can name. */
export const isAnyHost = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** Values of `Host` that the server accepts besides `http.hosts`. */
export const ownHosts = ({ host }: ListenAddress): ReadonlyArray<string> => {
  const names = ["localhost", "127.0.0.1", "[::1]"]
  const own = authorityOf(host)
  return isAnyHost(host) || names.includes(own) ? names : [...names, own]
}

/** A warning about an address that no client can name; undefined if there is none. */
export const hostWarning = ({ host }: ListenAddress, { hosts = [] }: HttpOptions) =>
  isAnyHost(host) && hosts.length === 0
    ? `only requests that name the loopback interface are served: set \`http.hosts\` to the names by which clients reach this server`
    : undefined
