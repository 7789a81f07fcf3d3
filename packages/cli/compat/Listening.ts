/** The built server on a port, as users start it. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { startHttp } from "../test/support/HttpProcess.ts"
import { type ServerAddress, settingWords, stateDirectory } from "./Driver.ts"

/** A port that the system selects. */
const anyPort = "http://127.0.0.1:0"

/**
 * A server of this state directory, once it listens. It runs until the scope closes.
 *
 * @param words the command and its settings
 * @param cwd its working directory; default: the directory of temporary files
 */
export const listeningWith = (
  directory: string,
  words: ReadonlyArray<string>,
  cwd?: string,
): Effect.Effect<ServerAddress, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = yield* startHttp(directory, [...words, "--listen", anyPort], cwd)
    return { url: yield* url, token: readFileSync(join(directory, "http-token"), "utf8").trim() }
  })

const listeningAs =
  (command: string) =>
  (overrides: ReadonlyArray<string> = []): Effect.Effect<ServerAddress, never, Scope.Scope> =>
    Effect.flatMap(stateDirectory, (directory) =>
      listeningWith(directory, [command, ...settingWords(overrides)]),
    )

/** `colloquy serve`, with a new state directory that has one prompt. */
export const listening = listeningAs("serve")

/** `colloquy mcp --listen`, with a new state directory that has one prompt. */
export const listeningForMcp = listeningAs("mcp")
