/**
 * Files of this package. This module stays directly in `src`: from there the package's root is one folder up, as it is from
 * the bundle in `dist`.
 */
import { fileURLToPath } from "node:url"

/** Absolute path of a file of the package, by its path from the package's root. */
export const packageFile = (path: string): string =>
  fileURLToPath(new URL(`../${path}`, import.meta.url))
