/** Bundles a server as the program is bundled; otherwise loading its sources would count as its time and memory. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"

/** Path of the bundle of an entry; the scope removes it. */
export const bundle = (entry: URL): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-bench-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true })),
  ).pipe(
    Effect.flatMap((directory) => {
      const file = join(directory, "server.mjs")
      return Effect.as(
        Effect.promise(() =>
          build({
            input: fileURLToPath(entry),
            platform: "node",
            output: { file, format: "esm", minify: true, codeSplitting: false },
          }),
        ),
        file,
      )
    }),
  )
