/** The setpriv that the environment of the tests names, for systems on which setpriv has no Landlock support. */
export const namedSetpriv: string | undefined = process.env["COLLOQUY_SETPRIV"]
