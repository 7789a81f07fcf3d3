/** This program as an executable file, for clients that take a path and no arguments. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entry } from "../test/support/BuiltProgram.ts"
import { directory } from "../test/support/Home.ts"

/** The path of a file named `codex` that runs the built program with these variables. */
export const executable = (
  variables: Readonly<Record<string, string>> = {},
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(directory(), (place) => {
    const path = join(place, "codex")
    const settings = Object.entries(variables).map(([name, value]) => `export ${name}="${value}"`)
    const run = `exec "${process.execPath}" "${entry}" "$@"`
    writeFileSync(path, ["#!/bin/sh", ...settings, run, ""].join("\n"))
    chmodSync(path, 0o755)
    return path
  })
