/** A command as a person reads it before it runs: quoted as for a POSIX shell (§1.10). Pure. */

/** Words that a shell takes as they are. */
const plain = /^[\w@%+=:,./-]+$/

/**
 * What a terminal obeys instead of showing it, or what changes the order of what is read: shown as it is, it could
 * make one command look like another (R21). Line feeds and tabs are part of many scripts and stay. Made when it is
 * needed: the tables of Unicode are read for it, and a client waits while the process starts.
 */
const treacherous = () => /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

const isTreacherous = (text: string): boolean => text.search(treacherous()) !== -1

const escaped = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`
  return code > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`
}

const quoted = (word: string): string => {
  if (plain.test(word)) return word
  if (!isTreacherous(word)) return `'${word.replaceAll("'", "'\\''")}'`
  const inside = word.replace(/[\\']/g, "\\$&").replace(treacherous(), escaped)
  return `$'${inside}'`
}

export const commandText = (command: ReadonlyArray<string>): string => command.map(quoted).join(" ")

/** A path, without what would not be seen. */
export const pathText = (path: string): string => (isTreacherous(path) ? quoted(path) : path)
