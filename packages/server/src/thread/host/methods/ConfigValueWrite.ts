/** `config/value/write`: writes one value to the user's file. */
import type { ConfigValueWrite } from "@colloquy/protocol/thread/Configuration"
import { writeConfig } from "../ConfigWrite.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const configValueWrite: HostHandler<typeof ConfigValueWrite> = ({
  expectedVersion,
  filePath,
  ...edit
}) => writeConfig([edit], { expectedVersion, filePath })
