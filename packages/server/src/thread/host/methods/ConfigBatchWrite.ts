/** `config/batchWrite`: writes several values to the user's file, all or none. */
import type { ConfigBatchWrite } from "@colloquy/protocol/thread/Configuration"
import { writeConfig } from "../ConfigWrite.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. The file is read for each new thread, so `reloadUserConfig` has nothing to do. */
export const configBatchWrite: HostHandler<typeof ConfigBatchWrite> = ({ edits, ...target }) =>
  writeConfig(edits, target)
