/**
 * Where the file of a conversation lies and what it is called (§5.3):
 * `sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl`, in local time; archived ones lie flat. Pure.
 */
import { ConversationId } from "@colloquy/protocol/Ids"
import * as DateTime from "effect/DateTime"

/** Below the state directory. */
export const sessionsFolder = "sessions"
export const archiveFolder = "archived_sessions"

export interface RolloutName {
  /** The last part of the path. */
  readonly file: string
  /** Below the state directory, while it is not archived. */
  readonly folder: string
}

/** @param localMs when it was made, as milliseconds of a clock that shows local time */
export const rolloutName = (id: ConversationId, localMs: number): RolloutName => {
  const parts = DateTime.toPartsUtc(DateTime.makeUnsafe(localMs))
  const two = (value: number) => String(value).padStart(2, "0")
  const day = [String(parts.year).padStart(4, "0"), two(parts.month), two(parts.day)] as const
  const time = [two(parts.hour), two(parts.minute), two(parts.second)].join("-")
  return {
    file: `rollout-${day.join("-")}T${time}-${id}.jsonl`,
    folder: [sessionsFolder, ...day].join("/"),
  }
}

const form =
  /^rollout-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/

/** Undefined for a file that is no rollout. */
export const idInName = (file: string): ConversationId | undefined => {
  const id = form.exec(file)?.[5]
  return id === undefined ? undefined : ConversationId.make(id)
}

/** The folder, counted from the state directory, in which the file of an unarchived conversation would lie. */
export const folderOfName = (file: string): string | undefined => {
  const day = form.exec(file)?.[1]
  return day === undefined ? undefined : `${sessionsFolder}/${day.replaceAll("-", "/")}`
}

export const parentFolder = (path: string): string => path.slice(0, path.lastIndexOf("/"))
