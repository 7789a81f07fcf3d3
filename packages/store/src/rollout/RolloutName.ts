/**
 * Names and folders of rollout files:
 * `sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<uuid>.jsonl` in local time, as the original
 * writes them. Archived files are directly in one folder. Pure.
 */
import { ConversationId } from "@colloquy/protocol/Ids"
import * as DateTime from "effect/DateTime"

/** Folder of conversations that are not archived, relative to the state directory. */
export const sessionsFolder = "sessions"
/** Folder of archived conversations, relative to the state directory. */
export const archiveFolder = "archived_sessions"

/** Name and folder of a rollout file. */
export interface RolloutName {
  /** The last part of the path. */
  readonly file: string
  /** Relative to the state directory, while the conversation is not archived. */
  readonly folder: string
}

/** @param localMs creation time, as milliseconds since the epoch plus the offset of local time */
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

/** The id in a file name; undefined when the file is not a rollout. */
export const idInName = (file: string): ConversationId | undefined => {
  const id = form.exec(file)?.[5]
  return id === undefined ? undefined : ConversationId.make(id)
}

/**
 * The folder of a file while its conversation is not archived, relative to the state directory;
 * undefined when the file is not a rollout.
 */
export const folderOfName = (file: string): string | undefined => {
  const day = form.exec(file)?.[1]
  return day === undefined ? undefined : `${sessionsFolder}/${day.replaceAll("-", "/")}`
}

/** The part of a path before its last `/`. */
export const parentFolder = (path: string): string => path.slice(0, path.lastIndexOf("/"))
