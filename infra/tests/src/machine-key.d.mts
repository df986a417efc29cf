export function machineKey(root: string, env?: Readonly<Record<string, string | undefined>>): string
