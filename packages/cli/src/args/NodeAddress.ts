/** The addresses of a cluster: of its database, and of a node. Pure. */

/** Where a node of a cluster listens or is reached. */
export interface NodeAddress {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
}

const pattern = /^(\[[0-9a-f:.]+\]|[0-9a-z._-]+):(\d{1,5})$/i

const maxPort = 65_535

/** Reads `HOST:PORT`, with an IPv6 address in brackets. Undefined for anything else. */
export const parseNodeAddress = (text: string): NodeAddress | undefined => {
  const [, host = "", digits = ""] = pattern.exec(text) ?? []
  const port = Number(digits)
  return host === "" || port > maxPort
    ? undefined
    : { host: host.replace(/^\[|\]$/g, "").toLowerCase(), port }
}

/** What the address of a database is, for an error. */
export const postgresAddress = "postgres://user:password@host/database"

/** True for the address of a PostgreSQL database that names a user; the driver takes none from the system. */
export const isPostgres = (text: string): boolean =>
  /^postgres(?:ql)?:\/\/./.test(text) && URL.canParse(text) && new URL(text).username !== ""
