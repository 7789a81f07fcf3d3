/** State directories for live tests: one `config.toml` each, removed with the scope. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The text of a `config.toml` that requests the offline model unless it selects a provider itself. */
export const requestingOffline = (config: string): string =>
  /^model_provider\b/m.test(config) ? config : `model_provider = "offline"\n${config}`

/** A directory with these files and nothing else. */
export const directory = (
  files: Readonly<Record<string, string>> = {},
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "colloquy-live-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
      return directory
    }),
    (directory) =>
      Effect.sync(() => rmSync(directory, { recursive: true, maxRetries: 10, force: true })),
  )

/** A state directory with these files: the offline model answers unless its `config.toml` selects another provider. */
export const home = (
  files: Readonly<Record<string, string>> = {},
): Effect.Effect<string, never, Scope.Scope> =>
  directory({ ...files, "config.toml": requestingOffline(files["config.toml"] ?? "") })

/** A directory whose offline model follows this script. */
export const scripted = (
  script: ReadonlyArray<ReadonlyArray<unknown>>,
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = yield* home({ "script.json": JSON.stringify(script) })
    const config = `[offline]\nscript = "${join(directory, "script.json")}"\n`
    yield* Effect.sync(() =>
      writeFileSync(join(directory, "config.toml"), requestingOffline(config)),
    )
    return directory
  })

/** A directory whose provider is the one at `baseUrl`. Retries are few, so that a test of them ends. */
export const provided = (
  baseUrl: string,
  wire: "responses" | "chat",
  retries: { readonly request?: number; readonly stream?: number } = {},
): Effect.Effect<string, never, Scope.Scope> =>
  home({
    "config.toml": [
      'model = "mock-model"',
      'model_provider = "mock"',
      "[model_providers.mock]",
      'name = "Mock"',
      `base_url = "${baseUrl}"`,
      `wire_api = "${wire}"`,
      `request_max_retries = ${retries.request ?? 0}`,
      `stream_max_retries = ${retries.stream ?? 0}`,
    ].join("\n"),
  })
