/** Errors of a store of conversations. Messages name what was expected and never contain text of a conversation. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The store could not carry out the operation. What was stored before is unchanged. */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.Literals([
    "create",
    "open",
    "append",
    "read",
    "list",
    "archive",
    "unarchive",
    "rename",
    "delete",
    "metadata",
  ]),
  /**
   * `Full`: no space left. `Denied`: a permission is missing or the file system is read-only. `Gone`: the log existed and
   * was removed by another program. `Foreign`: the file is not a conversation of Colloquy; it was not changed.
   * `Damaged`: the log cannot be read. `Outside`: the path is not below the directory of conversations. `Exists`: the
   * id is in use. `Slow`: no answer in time; the operation may still be carried out. `Exhausted`: the process, the machine
   * or the database has no file descriptor, connection or memory left; a retry may succeed. `Unreachable`: the server
   * that keeps the conversations does not answer or refuses connections; a retry may succeed. `Reverted`: records that
   * were acknowledged are missing, as after a backup was restored.
   */
  reason: Schema.Literals([
    "Full",
    "Denied",
    "Gone",
    "Foreign",
    "Damaged",
    "Outside",
    "Exists",
    "Slow",
    "Exhausted",
    "Unreachable",
    "Reverted",
    "Other",
  ]),
  message: Schema.String,
}) {}

/** The error for a path that cannot be that of a stored conversation, whether or not there is a file. */
export const outsideSessions = (
  operation: StoreError["operation"],
  sessionsDirectory: string,
): StoreError =>
  new StoreError({
    operation,
    reason: "Outside",
    message: `expected the absolute path of a rollout file in ${sessionsDirectory}`,
  })

/** The process that holds the lease of a conversation, as far as its lease file says. */
export const LeaseHolder = Schema.Struct({
  pid: Schema.optionalKey(Schema.Int),
  host: Schema.optionalKey(Schema.String),
  /** Base address of its plain API, as its operator publishes it: `http://127.0.0.1:8747`. Absent when it has none. */
  url: Schema.optionalKey(Schema.String),
  /** Time when the lease was taken, in milliseconds since the epoch. */
  sinceMs: Schema.optionalKey(Schema.Finite),
})
/** The process that holds a lease. */
export type LeaseHolder = typeof LeaseHolder.Type

const holderText = ({ host, pid, sinceMs, url }: LeaseHolder): string => {
  const process = pid === undefined ? "another process" : `process ${pid}`
  const where = host === undefined ? "" : ` on ${host}`
  const since = sinceMs === undefined ? "" : `, since ${isoText(sinceMs)}`
  const at = url === undefined ? "" : `, at ${url}`
  return `${process}${where}${since}${at}`
}

/** The time as ISO 8601, or its number where it is outside the range of dates. */
const isoText = (ms: number): string =>
  Option.match(DateTime.make(ms), { onNone: () => `${ms} ms`, onSome: DateTime.formatIso })

/** Another process holds the lease of this conversation (L16). */
export class LeaseHeld extends Schema.TaggedError<LeaseHeld>()("LeaseHeld", {
  id: Schema.String,
  holder: LeaseHolder,
}) {
  override get message() {
    return `conversation ${this.id} is in use by ${holderText(this.holder)}`
  }
}

/** Another process has taken the lease: this writer appends nothing any more (L16). */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  id: Schema.String,
  /** Generation of the writer that was refused. */
  generation: Schema.Int,
}) {
  override get message() {
    return `conversation ${this.id} was taken over by another writer`
  }
}

/** The log would grow beyond a limit of the store. Nothing of the batch was written. */
export class StoreLimit extends Schema.TaggedError<StoreLimit>()("StoreLimit", {
  id: Schema.String,
  limit: Schema.Literals(["events", "bytes"]),
  max: Schema.Finite,
}) {
  override get message() {
    return `conversation ${this.id} has reached its limit of ${this.max} ${this.limit}`
  }
}

/** Why an append failed. */
export type AppendError = StoreError | LeaseLost | StoreLimit
