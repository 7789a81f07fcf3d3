/** `npm run site`: builds the static site and prints where it is. */
import { buildSite, SiteError } from "./Site.ts"

try {
  process.stdout.write(`${await buildSite()}\n`)
} catch (error) {
  if (!(error instanceof SiteError)) throw error
  process.stderr.write(`site: ${error.message}\n`)
  process.exitCode = 1
}
