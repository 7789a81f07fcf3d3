/** A separate state directory, so that the user's configuration and keys have no effect. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A configuration with the provider at `baseUrl` and without retries, which could hide a failure. */
export const providerConfig = (baseUrl: string): string => `model = "bench"
model_provider = "bench"

[model_providers.bench]
name = "bench"
base_url = "${baseUrl}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`

/** Creates the directory with this `config.toml` and returns the environment that selects it; the scope removes it. */
export const make = (
  config = 'model_provider = "offline"\n',
): Effect.Effect<Readonly<Record<string, string>>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(tmpdir(), "colloquy-bench-"))
      writeFileSync(join(directory, "config.toml"), config)
      return directory
    }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true })),
  ).pipe(Effect.map((directory) => ({ COLLOQUY_HOME: directory, COLLOQUY_LOG: "off" })))
