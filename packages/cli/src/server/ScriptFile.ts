/** Reads `offline.script`: the responses of the offline model. Loaded only where it is configured. */
import { SettingsError } from "@colloquy/core/ConversationSettings"
import { decode, type OfflineScript } from "@colloquy/models/OfflineScript"
import { parseJson } from "@colloquy/protocol/Json"
import { readFile } from "@colloquy/store/node/ReadFile"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { problemOf } from "../config/ConfigFile.ts"

/** Largest script of the offline model. */
const maxScriptBytes = 16 * 1024 * 1024

const readJson = (path: string): Result.Result<unknown, string> => {
  try {
    const json = parseJson(new TextDecoder().decode(readFile(path, maxScriptBytes)))
    return Result.mapError(json, ({ message }) => `is ${message}`)
  } catch (error) {
    return Result.fail(problemOf(error))
  }
}

const key = "offline.script"

/** The responses. Fails if the file cannot be read or is no script. @param path absolute */
export const read = Effect.fnUntraced(function* (
  path: string,
): Effect.fn.Return<OfflineScript, SettingsError> {
  const failed = (problem: string) =>
    new SettingsError({ message: `${path}: ${problem}\nin \`${key}\`\n`, key })
  const json = yield* Effect.mapError(Effect.fromResult(readJson(path)), failed)
  return yield* Effect.mapError(Effect.fromResult(decode(json)), (error) => failed(error.message))
})
