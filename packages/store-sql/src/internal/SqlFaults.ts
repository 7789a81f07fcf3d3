/** What an error of the database means for the store. Pure. */
import { StoreError } from "@colloquy/core/StoreErrors"
import type { SqlError } from "effect/sql/SqlError"

/** An operation of the store, as its errors name it. */
export type Operation = StoreError["operation"]

/**
 * The code of the error: an SQLSTATE of PostgreSQL, a number of SQLite, or for a connection that was not made that of the
 * system, such as `ECONNREFUSED`.
 */
const codeOf = ({ reason }: SqlError): string => {
  const { cause } = reason
  if (typeof cause !== "object" || cause === null) return ""
  if ("code" in cause && typeof cause.code === "string") {
    if (/^(?:[0-9A-Z]{5}|E[A-Z]+)$/.test(cause.code)) return cause.code
  }
  return "errcode" in cause && typeof cause.errcode === "number"
    ? `sqlite ${cause.errcode & 0xff}`
    : ""
}

/** The server is stopping, starting or has ended the session. */
const stopping = ["57P01", "57P02", "57P03", "57P05"]

/** The server has no connection, memory or lock left for this request. */
const exhausted = ["53300", "53200", "53400", "sqlite 7"]

const full = ["53100", "sqlite 13"]

/** The server or the file is read-only, or the user may not write. */
const denied = ["25006", "42501", "sqlite 8", "sqlite 3", "sqlite 23"]

/** Another process has the lock of the file. */
const busy = ["sqlite 5", "sqlite 6"]

const damaged = ["XX001", "XX002", "sqlite 11", "sqlite 26"]

/** What the driver says of an address that it cannot use, before any connection; undefined for any other error. */
const addressFault = ({ reason: { cause, message, operation } }: SqlError): string | undefined =>
  operation === "connect" && cause instanceof Error && message === `PgConnection: ${cause.message}`
    ? cause.message
    : undefined

/** The server was asked for TLS, and has none. */
const lacksTls = ({ reason }: SqlError): boolean =>
  reason.message === "PgConnection: Server refused TLS"

const reasonOf = (error: SqlError): StoreError["reason"] => {
  if (addressFault(error) !== undefined || lacksTls(error)) return "Other"
  const code = codeOf(error)
  if (full.includes(code)) return "Full"
  if (denied.includes(code)) return "Denied"
  if (exhausted.includes(code)) return "Exhausted"
  if (damaged.includes(code)) return "Damaged"
  if (stopping.includes(code)) return "Unreachable"
  if (busy.includes(code)) return "Slow"
  switch (error.reason._tag) {
    case "ConnectionError":
      return "Unreachable"
    case "AuthenticationError":
    case "AuthorizationError":
      return "Denied"
    case "LockTimeoutError":
    case "StatementTimeoutError":
    case "DeadlockError":
    case "SerializationError":
      return "Slow"
    default:
      return "Other"
  }
}

const meanings: Readonly<Partial<Record<StoreError["reason"], string>>> = {
  Full: "the database has no space left",
  Denied: "the database does not permit it",
  Exhausted: "the database has no connection or memory left",
  Damaged: "the database is damaged",
  Unreachable: "the database cannot be reached",
  Slow: "the database did not answer in time",
}

const wrongUser = "the database does not accept the user or the password"

/** The first name that the message of the database quotes, in code quotes. A server may write another language. */
const quotedName = ({ reason: { cause } }: SqlError): string | undefined => {
  const name = cause instanceof Error ? /"([^"]+)"/.exec(cause.message)?.[1] : undefined
  return name === undefined ? undefined : `\`${name}\``
}

/** What of the address is wrong, or names what the server does not have. Undefined for any other error. */
const wrongAddress = (code: string, error: SqlError): string | undefined => {
  const fault = addressFault(error)
  if (fault !== undefined) return `the address of the database is not valid: ${fault}`
  if (lacksTls(error)) return "the server of the database has no TLS, for which its address asks"
  if (error.reason._tag === "AuthenticationError") return wrongUser
  switch (code) {
    case "28000":
    case "28P01":
      return wrongUser
    case "3D000":
      return ["the database", quotedName(error), "does not exist"].filter(Boolean).join(" ")
    case "3F000":
      return `the schema ${quotedName(error) ?? "(`search_path`)"} does not exist`
    default:
      return undefined
  }
}

/** The `StoreError` that an error of the database means. Its message carries no value of a statement. */
export const storeError = (operation: Operation, error: SqlError): StoreError => {
  const reason = reasonOf(error)
  const code = codeOf(error)
  const meaning =
    wrongAddress(code, error) ?? meanings[reason] ?? "the database refused the statement"
  return new StoreError({
    operation,
    reason,
    message: `${meaning} (${code === "" ? error.reason._tag : code})`,
  })
}

/** True when the same statement may succeed a moment later, on another connection. */
export const mayPass = (error: SqlError): boolean => {
  const reason = reasonOf(error)
  return reason === "Unreachable" || reason === "Exhausted" || reason === "Slow"
}

/** True when the statement may have been carried out although it failed: the session ended while it ran. */
export const isUnknownOutcome = (error: SqlError): boolean =>
  reasonOf(error) === "Unreachable" && error.reason.operation !== "connect"
