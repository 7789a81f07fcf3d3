/** The address of `--listen`: standard streams, or a port with its protocol. Pure. */
import * as Result from "effect/Result"

/** A port to listen on. */
export interface ListenAddress {
  /** `https` and `wss` need a certificate. */
  readonly scheme: "http" | "https" | "ws" | "wss"
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/** Standard input and output. */
export const stdio = "stdio://"

/** What `--listen` takes, for errors. */
const expected = `\`${stdio}\`, \`http://HOST:PORT\`, \`https://HOST:PORT\`, \`ws://HOST:PORT\` or \`wss://HOST:PORT\``

const address = /^(https?|wss?):\/\/(\[[0-9a-f:.]+\]|[0-9a-z.-]+):(\d{1,5})\/?$/i

const maxPort = 65_535

/** Reads the address. Fails with one line that says what was expected. */
export const parseListen = (text: string): Result.Result<ListenAddress | typeof stdio, string> => {
  if (text === stdio) return Result.succeed(stdio)
  const [, scheme = "", host = "", digits = ""] = address.exec(text) ?? []
  const port = Number(digits)
  if (scheme === "" || port > maxPort) {
    return Result.fail(`\`--listen\` takes ${expected}, not ${JSON.stringify(text.slice(0, 80))}`)
  }
  return Result.succeed({
    scheme: scheme.toLowerCase() as ListenAddress["scheme"],
    host: host.replace(/^\[|\]$/g, "").toLowerCase(),
    port,
  })
}
