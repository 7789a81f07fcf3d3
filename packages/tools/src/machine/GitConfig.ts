/**
 * The configuration with which the server's own `git` works in a repository. Of the repository's configuration it
 * contains only settings that say how its files are stored, each checked against its permitted values. Everything else,
 * above all whatever names a program, is left out. Pure. Part of L15.
 */

const booleans = /^(?:true|false|yes|no|on|off|0|1)$/i

/** Settings that are passed on, named as git prints them (lower case), with their permitted values. */
const passedOn: ReadonlyMap<string, RegExp> = new Map([
  ["core.repositoryformatversion", /^[01]$/],
  ["core.filemode", booleans],
  ["core.symlinks", booleans],
  ["core.ignorecase", booleans],
  ["core.precomposeunicode", booleans],
  ["core.trustctime", booleans],
  ["core.autocrlf", /^(?:true|false|yes|no|on|off|0|1|input)$/i],
  ["core.eol", /^(?:lf|crlf|native)$/i],
  ["extensions.objectformat", /^(?:sha1|sha256)$/],
  ["extensions.refstorage", /^(?:files|reftable)$/],
])

/** Arguments with which git prints these settings of a configuration file, for `configText`. */
export const readArgs = (file: string): ReadonlyArray<string> => [
  "--no-pager",
  "config",
  "--file",
  file,
  "--no-includes",
  "-z",
  "--get-regexp",
  `^(${[...passedOn.keys()].map((name) => name.replace(".", "\\.")).join("|")})$`,
]

/** Text of a configuration file with the settings that git printed for `readArgs`. */
export const configText = (printed: string): string => {
  const lines = ["[core]\n\tbare = false\n"]
  for (const setting of printed.split("\0")) {
    const [name = "", value = ""] = setting.split("\n", 2)
    if (passedOn.get(name)?.test(value) !== true) continue
    const [section, key] = name.split(".")
    lines.push(`[${section}]\n\t${key} = ${value}\n`)
  }
  return lines.join("")
}

/** Settings of every call, in case a later git reads more than the configuration above. */
export const overrides: ReadonlyArray<string> = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.quotePath=false",
  "safe.bareRepository=explicit",
  "submodule.recurse=false",
  "protocol.allow=never",
].flatMap((setting) => ["-c", setting])
