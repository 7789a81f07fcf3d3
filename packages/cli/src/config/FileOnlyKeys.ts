/**
 * Keys that only the user's own `config.toml` may set, because the programs that they name run outside the sandbox. In other
 * places they are ignored with a warning rather than an error, since clients of the original pass on their whole
 * configuration. Pure.
 */

const fileOnlyKeys: ReadonlySet<string> = new Set(["notify"])

/** True for a dotted path whose first name is such a key. */
export const isFileOnly = (path: string): boolean => fileOnlyKeys.has(path.split(".", 1)[0] ?? "")

/** The warning for such a key. @param at where it was set */
export const ignoredWarning = (at: string): string =>
  `${at}: ignored, only config.toml may set this key`
