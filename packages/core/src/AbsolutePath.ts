/** Paths as plain text: what a relative path means from a directory. Asks no file system and follows no link. */

const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)

/** `path` from the absolute directory `base`, without `.` and `..`; an empty path is `base` itself. */
export const resolvePath = (base: string, path: string): string => {
  const joined = isAbsolute(path) ? path : `${base}/${path}`
  // Drive letters keep their own spelling: backslashes divide there, and only there.
  const drive = /^[A-Za-z]:/.exec(joined)?.[0]
  const kept: Array<string> = []
  for (const part of joined.slice(drive?.length ?? 0).split(drive === undefined ? "/" : /[\\/]/)) {
    if (part === "..") kept.pop()
    else if (part !== "" && part !== ".") kept.push(part)
  }
  return drive === undefined ? `/${kept.join("/")}` : `${drive}\\${kept.join("\\")}`
}
