/**
 * Decodes the metadata and the path of a row of the index, which is a file that any program may
 * have changed. Pure. A row that this version would not write means that the index is damaged.
 */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import { MetaSchema } from "@colloquy/core/MetaSchema"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { archiveFolder, idInName, sessionsFolder } from "../rollout/RolloutName.ts"

const decode = Schema.decodeUnknownResult(MetaSchema)

/** A row of the index has a value that this version does not write; the index has to be rebuilt. */
export class DamagedRow extends Error {
  constructor(expected: string) {
    super(`a row is damaged, expected ${expected}`)
  }
}

/** Decodes the metadata of a conversation. Throws `DamagedRow`. */
export const indexedMeta = (json: string): ConversationMeta => {
  const meta = Result.flatMap(parseJson(json), decode)
  if (Result.isFailure(meta)) throw new DamagedRow("the metadata of a conversation in `meta`")
  return meta.success
}

const folders = new RegExp(`^(?:${sessionsFolder}(?:/[^/]+){0,3}|${archiveFolder})$`)

/** Path of a rollout file below the state directory, and of no other file. Throws `DamagedRow`. */
export const indexedPath = (
  folder: string,
  name: string,
  id: ConversationId | undefined,
): string => {
  const isNamed = id !== undefined && idInName(name) === id
  if (!folders.test(folder) || folder.split("/").includes("..") || !isNamed) {
    throw new DamagedRow("the rollout file of the conversation in `folder` and `name`")
  }
  return `${folder}/${name}`
}
