/**
 * The versions that this program states. Clients of the original read the first `x.y.z` of `--version`, `userAgent` and
 * `serverInfo.version`, and some reject a version below 0.153.0 (the AI SDK's provider for Codex). Each of the three
 * therefore states the version of the original that this program is compatible with, then its own.
 */

/** The version of this package; a test compares it with `package.json`. */
export const version = "0.1.0"

/** Default of the key `compatibility_version`: the last release of the original that served MCP. */
export const defaultCompatibility = "0.153.4"

/** The compatible version, with Colloquy's own version as build metadata of semantic versioning. */
export const statedVersion = (compatibility: string = defaultCompatibility): string =>
  `${compatibility}+colloquy.${version}`
