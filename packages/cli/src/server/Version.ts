/**
 * The versions this program states. Clients of the original read the first `x.y.z` of `--version`, of `userAgent` and of
 * `serverInfo.version`, and refuse one below 0.153.0 (the AI SDK's provider for Codex does). So each of the three states
 * the version of the original that it is compatible with, then its own.
 */

/** The version of this package; a test compares it with `package.json`. */
export const version = "0.1.0"

/** Default of the key `compatibility_version`: the last release of the original that served MCP. */
export const defaultCompatibility = "0.153.4"

/** As semantic versioning has it: the compatible version, and the own one as its build metadata. */
export const statedVersion = (compatibility: string = defaultCompatibility): string =>
  `${compatibility}+colloquy.${version}`
