/** Bundles an entry as our program is bundled: loading sources one by one would count as the server's time and memory. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"

/** The bundle of that entry; removed with the scope. */
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
