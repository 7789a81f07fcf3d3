/**
 * What `exec` reports of a call that was refused before it ran: of a tool that does not exist, with arguments that are not
 * valid, or of a patch that does not apply. Pure.
 */
import { resolvePath } from "@colloquy/core/AbsolutePath"
import type { ToolCallItem } from "@colloquy/core/log/Item"
import type { ExecItemContent } from "./ExecEvents.ts"

const kinds = { Add: "add", Update: "update", Delete: "delete" } as const

const isKind = (word: string): word is keyof typeof kinds => Object.hasOwn(kinds, word)

/** The text of a patch: the only argument, or the free text, of the call. */
const patchOf = (given: unknown): string => {
  if (typeof given === "string") return given
  const { input } = (given ?? {}) as { readonly input?: unknown }
  return typeof input === "string" ? input : ""
}

/** The files that the patch names, each once; it need not be a patch that can be parsed. */
const changesOf = (patch: string, cwd: string) => {
  const changes = new Map<string, (typeof kinds)[keyof typeof kinds]>()
  for (const line of patch.split("\n")) {
    const [, word = "", name = ""] = /^\*\*\* (\w+) File: (.+?)\s*$/.exec(line) ?? []
    if (isKind(word)) changes.set(resolvePath(cwd, name), kinds[word])
  }
  return [...changes].map(([path, kind]) => ({ path, kind }))
}

/** An error with the reason, after the change that did not happen where the call was of a patch. */
export const refused = (
  { arguments: given, result, tool }: ToolCallItem,
  cwd: string,
): ReadonlyArray<ExecItemContent> => {
  if (result === undefined || !("Err" in result)) return []
  const error = { type: "error", message: `${tool}: ${result.Err}` } as const
  if (tool !== "apply_patch") return [error]
  const changes = changesOf(patchOf(given), cwd)
  return [{ type: "file_change", changes, status: "failed" }, error]
}
