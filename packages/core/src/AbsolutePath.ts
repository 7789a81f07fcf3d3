/** Resolves paths as plain text. Reads no file system and follows no link. Pure. */

const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)

/** `path` resolved against the absolute directory `base`, without `.` and `..`. An empty path gives `base`. */
export const resolvePath = (base: string, path: string): string => {
  const joined = isAbsolute(path) ? path : `${base}/${path}`
  // Only paths with a drive letter are divided by backslashes.
  const drive = /^[A-Za-z]:/.exec(joined)?.[0]
  const kept: Array<string> = []
  for (const part of joined.slice(drive?.length ?? 0).split(drive === undefined ? "/" : /[\\/]/)) {
    if (part === "..") kept.pop()
    else if (part !== "" && part !== ".") kept.push(part)
  }
  return drive === undefined ? `/${kept.join("/")}` : `${drive}\\${kept.join("\\")}`
}
