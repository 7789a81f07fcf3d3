import { afterAll } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that is removed when the tests of the file have ended. */
export const folderForTests = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-sql-"))
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10, force: true }))
  return folder
}
