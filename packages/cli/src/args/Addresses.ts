/** The addresses on a command line: where a server listens, where a node of a cluster is reached, and its database. Pure. */
import * as Result from "effect/Result"

/** Where a node of a cluster listens or is reached. */
export interface NodeAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

/** A port to listen on. */
export interface ListenAddress extends NodeAddress {
  /** `https` and `wss` need a certificate. */
  readonly scheme: "http" | "https" | "ws" | "wss"
}

const hostAndPort = /^(\[[0-9a-f:.]+\]|[0-9a-z._-]+):(\d{1,5})$/i

const maxPort = 65_535

/** Reads `HOST:PORT`, with an IPv6 address in brackets. Undefined for anything else. */
export const parseNodeAddress = (text: string): NodeAddress | undefined => {
  const [, host = "", digits = ""] = hostAndPort.exec(text) ?? []
  const port = Number(digits)
  return host === "" || port > maxPort
    ? undefined
    : { host: host.replace(/^\[|\]$/g, "").toLowerCase(), port }
}

/** Standard input and output. */
export const stdio = "stdio://"

/** What `--listen` takes, for errors. */
const expected = `\`${stdio}\`, \`http://HOST:PORT\`, \`https://HOST:PORT\`, \`ws://HOST:PORT\` or \`wss://HOST:PORT\``

const schemeAndRest = /^(https?|wss?):\/\/(.*?)\/?$/i

/** Reads the address of `--listen`. Fails with one line that says what was expected. */
export const parseListen = (text: string): Result.Result<ListenAddress | typeof stdio, string> => {
  if (text === stdio) return Result.succeed(stdio)
  const [, scheme = "", rest = ""] = schemeAndRest.exec(text) ?? []
  const address = parseNodeAddress(rest)
  if (address === undefined) {
    const [, , port] = hostAndPort.exec(rest) ?? []
    return Result.fail(
      port === undefined || scheme === ""
        ? `\`--listen\` takes ${expected}, not ${JSON.stringify(text.slice(0, 80))}`
        : `\`--listen\` takes a port from 0 to ${maxPort}, not ${port}`,
    )
  }
  return Result.succeed({ scheme: scheme.toLowerCase() as ListenAddress["scheme"], ...address })
}

/** The form of the address of a PostgreSQL database. */
export const postgresAddress = "postgres://user:password@host/database"

/** What the database of a cluster is, for an error. */
export const expectedDatabase = `\`${postgresAddress}\`, with a user, and each special character of a part as \`%XX\``

const isEncoded = (text: string): boolean => {
  try {
    // The result is used, because the bundler drops a call whose result is not.
    return decodeURIComponent(text).length <= text.length
  } catch {
    return false
  }
}

/** True for the address of a PostgreSQL database that names a user: the driver takes that of the environment, if there is one. */
export const isPostgres = (text: string): boolean => {
  if (!/^postgres(?:ql)?:\/\/./.test(text) || !URL.canParse(text)) return false
  const { password, pathname, username } = new URL(text)
  return username !== "" && [username, password, pathname].every(isEncoded)
}
