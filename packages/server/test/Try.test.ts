import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Recording from "./support/Recording.ts"
import { found } from "./support/ThreadReplaying.ts"
import { threadReplays } from "./support/ThreadReplays.ts"
import { writeFileSync } from "node:fs"
const names = (process.env["REC"] ?? "").split(",").filter((x) => x !== "")
for (const name of names.length ? names : Recording.namesOf("0.169.0")) {
  it.effect(name, () => {
    const entries = Recording.load("0.169.0", name)
    return Effect.map(found(entries, threadReplays[name]?.(entries) ?? {}), (ms) =>
      writeFileSync(`/tmp/rp/${name}.json`, JSON.stringify(ms, null, 1)),
    )
  })
}
