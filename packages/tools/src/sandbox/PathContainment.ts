/** Compares absolute paths as text. Pure: reads no file system and follows no link. */

/** True when `path` is `directory` or lies in it. Both are absolute and normalized. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`)
