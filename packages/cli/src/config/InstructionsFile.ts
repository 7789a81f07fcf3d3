/** `experimental_instructions_file`: the text that replaces the built-in system instructions (§7.2). */
import { type ConversationSettings, SettingsError } from "@colloquy/core/ConversationSettings"
import * as Effect from "effect/Effect"
import { readFileSync, statSync } from "../StartFiles.ts"
import { codeOf } from "./ConfigFile.ts"

const key = "experimental_instructions_file"

/** A system message of this length leaves little room for anything else. */
const maxBytes = 256 * 1024

const problem = (path: string, text: string) =>
  new SettingsError({ message: `${path}: ${text}\nin \`${key}\`\n`, key })

/** Its size is looked at first: a device, or a log of gigabytes, is never read. */
const readText = (path: string) =>
  Effect.try({
    try: () => {
      const { size } = statSync(path)
      return size > maxBytes ? { size } : { size, text: readFileSync(path, "utf8").trim() }
    },
    catch: (error) => problem(path, `cannot be read (${codeOf(error)})`),
  })

/** An empty file is an error, as one that cannot be read. */
export const read = Effect.fnUntraced(function* (
  settings: ConversationSettings,
): Effect.fn.Return<ConversationSettings, SettingsError> {
  const { baseInstructionsFile: path, ...rest } = settings
  if (path === undefined) return settings
  if (settings.baseInstructions !== undefined) return rest
  const { size, text } = yield* readText(path)
  if (text === undefined) {
    return yield* problem(path, `has ${size} bytes, expected at most ${maxBytes}`)
  }
  if (text === "") return yield* problem(path, "is empty")
  return { ...rest, baseInstructions: text }
})
