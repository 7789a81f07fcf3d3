/** The table `http` as a server that listens loads it, whatever address it listens on. Pure. */
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"
import { type HttpOptions, httpOptions } from "../args/HttpOptions.ts"
import { accessTokenFault } from "./AccessTokenSettings.ts"
import { publicUrlFault } from "./PublicAddress.ts"

/** The options of the server. Fails with the first key that is not valid, or that others exclude. */
export const servedHttp = (tree: ConfigTree): Result.Result<HttpOptions, ConfigFault> =>
  Result.flatMap(httpOptions(tree), (options) => {
    const fault = publicUrlFault(options) ?? accessTokenFault(options)
    return fault === undefined ? Result.succeed(options) : Result.fail(fault)
  })
