/** What a store of conversations can fail with. Messages name what was expected, never what a conversation says. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The store could not do it. What was stored before is as it was. */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.Literals([
    "create",
    "open",
    "append",
    "read",
    "list",
    "archive",
    "unarchive",
    "delete",
    "metadata",
  ]),
  /**
   * `Full`: no space left. `Denied`: a permission is missing, or the place can only be read. `Gone`: it was there and was
   * taken away from under us. `Foreign`: it is not ours, and was left untouched. `Damaged`: it is ours and cannot be
   * read. `Outside`: the path does not lie where conversations are kept. `Exists`: the id is taken. `Slow`: no answer
   * in time; it may still be done. `Exhausted`: the process or the machine has no file descriptor or memory left; it may
   * work later.
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
    "Other",
  ]),
  message: Schema.String,
}) {}

/** The error for a path that cannot be that of a stored conversation; whether there is a file makes no difference. */
export const outsideSessions = (
  operation: StoreError["operation"],
  sessionsDirectory: string,
): StoreError =>
  new StoreError({
    operation,
    reason: "Outside",
    message: `expected the absolute path of a rollout file in ${sessionsDirectory}`,
  })

/** Who has the lease of a conversation, as far as the holder has told. */
export const LeaseHolder = Schema.Struct({
  pid: Schema.optionalKey(Schema.Int),
  host: Schema.optionalKey(Schema.String),
  /** Milliseconds since the epoch. */
  sinceMs: Schema.optionalKey(Schema.Finite),
})
export type LeaseHolder = typeof LeaseHolder.Type

const holderText = ({ host, pid, sinceMs }: LeaseHolder): string => {
  const who = pid === undefined ? "another process" : `process ${pid}`
  const where = host === undefined ? "" : ` on ${host}`
  const since = sinceMs === undefined ? "" : `, since ${isoText(sinceMs)}`
  return `${who}${where}${since}`
}

/** A time no calendar has is told as it is. */
const isoText = (ms: number): string =>
  Option.match(DateTime.make(ms), { onNone: () => `${ms} ms`, onSome: DateTime.formatIso })

/** Somebody else writes this conversation (L16). */
export class LeaseHeld extends Schema.TaggedError<LeaseHeld>()("LeaseHeld", {
  id: Schema.String,
  holder: LeaseHolder,
}) {
  override get message() {
    return `conversation ${this.id} is in use by ${holderText(this.holder)}`
  }
}

/** The lease went to somebody else: this writer writes nothing any more (L16). */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {
  id: Schema.String,
  /** Of the writer that was refused. */
  generation: Schema.Int,
}) {
  override get message() {
    return `conversation ${this.id} was taken over by another writer`
  }
}

/** The conversation would grow beyond what the store takes; nothing of the batch was written. */
export class StoreLimit extends Schema.TaggedError<StoreLimit>()("StoreLimit", {
  id: Schema.String,
  limit: Schema.Literals(["events", "bytes"]),
  max: Schema.Finite,
}) {
  override get message() {
    return `conversation ${this.id} has reached its limit of ${this.max} ${this.limit}`
  }
}

/** Why an append did not happen. */
export type AppendError = StoreError | LeaseLost | StoreLimit
