/**
 * Keys that only the user's own `config.toml` may set: what they name runs outside the sandbox. Elsewhere they are ignored
 * with a warning, since clients of the original pass their whole configuration on. Pure.
 */

const fileOnlyKeys: ReadonlySet<string> = new Set(["notify"])

/** True for a dotted path that begins with such a key. */
export const isFileOnly = (path: string): boolean => fileOnlyKeys.has(path.split(".", 1)[0] ?? "")

/** The warning for the places where such keys were set; `at` names the place. */
export const ignoredWarning = (at: string): string =>
  `${at}: only config.toml may set this key, and it is ignored`
