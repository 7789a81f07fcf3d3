/**
 * The rules for the macOS sandbox, and the launch made of the library's answer. Pure. NOT TESTED on macOS: only the
 * text of the profile was checked. Part of L15.
 *
 * The library returns one line for a shell, which starts outside of the sandbox. What a shell would obey there (start
 * files, functions, a PATH of the workspace) is therefore withheld from it and set inside.
 */
import type { ProtectedPath } from "../ProtectedPath.ts"

/** Named `readConfig` and `writeConfig` as in the library; all paths are literal, never patterns. */
export interface SeatbeltRules {
  readonly needsNetworkRestriction: boolean
  readonly readConfig: { readonly denyOnly: []; readonly literalDenyOnly: Array<string> }
  readonly writeConfig: {
    readonly allowOnly: []
    readonly literalAllowOnly: Array<string>
    readonly denyWithinAllow: []
    readonly literalDenyWithinAllow: Array<string>
  }
}

const hidden = ({ kind }: ProtectedPath): boolean =>
  kind === "hiddenFile" || kind === "hiddenDirectory"

/** Rules by path need no mounts: missing paths and links are named like all others. */
export const seatbeltRules = (
  roots: ReadonlyArray<string>,
  protectedPaths: ReadonlyArray<ProtectedPath>,
  network: boolean,
): SeatbeltRules => ({
  needsNetworkRestriction: !network,
  readConfig: {
    denyOnly: [],
    literalDenyOnly: protectedPaths.filter(hidden).map(({ path }) => path),
  },
  writeConfig: {
    allowOnly: [],
    literalAllowOnly: [...roots],
    denyWithinAllow: [],
    literalDenyWithinAllow: protectedPaths.map(({ kind, path }) =>
      kind === "frozen" ? `${path}/.git` : path,
    ),
  },
})

/** Quotes one word for a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const actsOnShell = /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|DYLD_.*|PS4|IFS|CDPATH)$/
const isName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables for the shell outside the sandbox, and those that are set inside only. */
export const splitForShell = (env: Readonly<Record<string, string>>) => {
  const entries = Object.entries(env)
  return {
    outside: Object.fromEntries(entries.filter(([name]) => !actsOnShell.test(name))),
    inside: Object.fromEntries(
      entries.filter(([name]) => actsOnShell.test(name) && isName.test(name)),
    ),
  }
}

/** The line that runs inside the sandbox: it sets the withheld variables, and TMPDIR, which the library replaced. */
export const shellLine = (
  argv: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>>,
  tmpdir: string | undefined,
): string =>
  [
    tmpdir === undefined ? "unset TMPDIR" : `export TMPDIR=${quoted(tmpdir)}`,
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`),
    `exec ${argv.map(quoted).join(" ")}`,
  ].join("; ")

/** The library's line with an absolute path of `env`; undefined when it has an unknown form. */
export const launchArgv = (line: string): readonly [string, ...ReadonlyArray<string>] | undefined =>
  line.startsWith("env ") && line.includes("/usr/bin/sandbox-exec")
    ? ["/bin/bash", "--noprofile", "--norc", "-c", `exec /usr/bin/${line}`]
    : undefined
