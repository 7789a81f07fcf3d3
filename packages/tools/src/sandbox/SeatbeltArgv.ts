/**
 * What the macOS sandbox is asked for, and its answer as a launch. Pure. NOT RUN on macOS: only the text of the
 * profile was read. Part of L15.
 *
 * The library gives one line for a shell, which begins outside of the sandbox; hence what a shell would follow there
 * (start files, functions, a PATH of the workspace) is kept from it and set inside.
 */
import type { Guard } from "./BubblewrapArgv.ts"

/** What the library calls `readConfig` and `writeConfig`; all paths are names, never patterns. */
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

const hidden = ({ kind }: Guard): boolean => kind === "hiddenFile" || kind === "hiddenDirectory"

/** Rules by path need no mounts: what does not exist and what is a link is named like everything else. */
export const seatbeltRules = (
  roots: ReadonlyArray<string>,
  guards: ReadonlyArray<Guard>,
  network: boolean,
): SeatbeltRules => ({
  needsNetworkRestriction: !network,
  readConfig: {
    denyOnly: [],
    literalDenyOnly: guards.filter(hidden).map(({ path }) => path),
  },
  writeConfig: {
    allowOnly: [],
    literalAllowOnly: [...roots],
    denyWithinAllow: [],
    literalDenyWithinAllow: guards.map(({ kind, path }) =>
      kind === "frozen" ? `${path}/.git` : path,
    ),
  },
})

/** One word of a shell's line. */
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

const actsOnShell = /^(?:BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|DYLD_.*|PS4|IFS|CDPATH)$/
const isName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Variables for the shell outside, and those that are set inside only. */
export const splitForShell = (env: Readonly<Record<string, string>>) => {
  const entries = Object.entries(env)
  return {
    outside: Object.fromEntries(entries.filter(([name]) => !actsOnShell.test(name))),
    inside: Object.fromEntries(
      entries.filter(([name]) => actsOnShell.test(name) && isName.test(name)),
    ),
  }
}

/** The line run inside: sets what was kept back, and the TMPDIR that the library replaced. */
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

/** The library's line with its `env` named in full; undefined where it does not read as known. */
export const launchArgv = (line: string): readonly [string, ...ReadonlyArray<string>] | undefined =>
  line.startsWith("env ") && line.includes("/usr/bin/sandbox-exec")
    ? ["/bin/bash", "--noprofile", "--norc", "-c", `exec /usr/bin/${line}`]
    : undefined
