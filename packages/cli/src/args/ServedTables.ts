/**
 * Checks the tables that only a server that listens uses, `http` and `cluster`, for every other command: a wrong value in
 * them is an error as any other is. Whether their keys go together is left to the server.
 */
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"
import { clusterTable } from "./ClusterOptions.ts"
import { httpOptions } from "./HttpOptions.ts"

/** Fails with the first key that is not valid. */
export const checkedTables = (tree: ConfigTree): Result.Result<unknown, ConfigFault> =>
  Result.andThen(httpOptions(tree), () => clusterTable(tree))
