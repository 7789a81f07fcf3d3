/** The address that a server publishes in its leases, for the clients of other servers with the same state directory. Pure. */
import { ConfigFault } from "@colloquy/config/ConfigFault"
import { isSafeAddress } from "@colloquy/transport-http/auth/SafeAddress"
import type { Served } from "../args/Args.ts"
import type { HttpOptions } from "../args/HttpOptions.ts"
import type { ListenAddress } from "../args/Addresses.ts"
import { isAnyHost } from "./BindPolicy.ts"

/** What is wrong with `http.public_url`, in one line; undefined if it can be published. */
export const publicUrlFault = ({ public_url: url }: HttpOptions): ConfigFault | undefined =>
  url === undefined || (isSafeAddress(url) && new URL(url).search === "")
    ? undefined
    : new ConfigFault({
        key: "http.public_url",
        message:
          "`http.public_url`: expected an `https` address, or an `http` address of the loopback interface, without credentials, query and fragment",
      })

/**
 * The address to publish. Only a server of the plain API publishes one. Without `http.public_url` it is the one that it
 * listens on, unless clients reach the server through a proxy or only under addresses that the server does not know.
 *
 * @param listening the address that the server listens on, with its port
 */
export const publishedUrl = (
  served: Served,
  { host }: ListenAddress,
  options: HttpOptions,
  listening: string,
): string | undefined => {
  if (served !== "all") return undefined
  if (options.public_url !== undefined) return options.public_url
  const isBehindProxy = options.tls_by_proxy === true || options.authentication === "proxy"
  return isBehindProxy || isAnyHost(host) ? undefined : listening
}
