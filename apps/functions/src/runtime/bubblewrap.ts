/** Host files that a sandbox shows: source path → path inside. */
export interface Mounts {
  readonly readOnly: Readonly<Record<string, string>>
  readonly writable: Readonly<Record<string, string>>
  /** Folder inside that the command starts in. */
  readonly cwd: string
}

/**
 * Prefixes a command so that it runs in its own namespaces (user, pid, network, ipc, uts, cgroup), without
 * capabilities, with only the mounted files and with a seccomp filter. The runtime is process 1 there and is killed
 * with the host. Descriptor 3 receives `{"child-pid": …}`; descriptor 4 provides the filter.
 */
export function bubblewrap(
  { bwrap, filter }: { readonly bwrap: string; readonly filter: Buffer | null },
  command: readonly string[],
  mounts: Mounts,
): string[] {
  const args = [bwrap, '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session']
  args.push('--as-pid-1', '--cap-drop', 'ALL', '--hostname', 'function', '--chdir', mounts.cwd, '--info-fd', '3')
  if (filter) args.push('--seccomp', '4')
  // The runtime looks up the path of its own binary, so /proc contains only that link.
  args.push('--dir', '/proc/self', '--symlink', command[0]!, '/proc/self/exe')
  for (const [source, place] of Object.entries(mounts.readOnly)) args.push('--ro-bind', source, place)
  for (const [source, place] of Object.entries(mounts.writable)) args.push('--bind', source, place)
  args.push('--remount-ro', '/')
  return [...args, '--', ...command]
}
