/**
 * Values of the configuration that are no tables although a deeper key of the command line makes a table of them, such as
 * `http=1` beside `http.hosts=[]`. The tree no longer has them, so they are checked by themselves.
 */
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import { faultsOf } from "@colloquy/config/ConfigSchema"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Effect from "effect/Effect"

/** A value that a table replaces, and its dotted path. */
type Replaced = Pick<ConfigTree.Override, "path" | "value">

/** The value that is no table on the way to a path. */
const onTheWay = (tree: ConfigTree.ConfigTree, path: string): ReadonlyArray<Replaced> => {
  const keys = path.split(".")
  return keys.slice(1).flatMap((_, index) => {
    const way = keys.slice(0, index + 1).join(".")
    const value = ConfigTree.get(tree, way)
    return value === undefined || ConfigTree.isTable(value) ? [] : [{ path: way, value }]
  })
}

/** The values that tables replace when the overrides are applied in order. */
const replacedBy = (
  tree: ConfigTree.ConfigTree,
  overrides: ReadonlyArray<ConfigTree.Override>,
): ReadonlyArray<Replaced> => {
  let edited = tree
  return overrides.flatMap(({ path, value }) => {
    const replaced = onTheWay(edited, path)
    edited = ConfigTree.set(edited, path, value)
    return replaced
  })
}

/** The first such value that its key does not permit; a key may take a table or something else. */
export const faultOf = Effect.fnUntraced(function* (
  tree: ConfigTree.ConfigTree,
  overrides: ReadonlyArray<ConfigTree.Override>,
): Effect.fn.Return<ConfigFault | undefined> {
  const replaced = replacedBy(tree, overrides)
  if (replaced.length === 0) return undefined
  const { allKeys } = yield* Effect.promise(() => import("./AllKeys.ts"))
  return replaced
    .flatMap(({ path, value }) =>
      faultsOf(allKeys(), ConfigTree.set(ConfigTree.empty, path, value)).filter(
        ({ key }) => key === path,
      ),
    )
    .at(0)
})
