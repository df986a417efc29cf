import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const ssl = (...args: string[]) => run('openssl', args)

/** Makes an authority and a certificate of it for some hosts, with openssl. */
export async function certify(folder: string, hosts: readonly string[]) {
  const file = (name: string) => join(folder, name)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=loopback', '-days', '2']
  await ssl('req', '-x509', ...key, ...authority)
  await ssl('req', ...key, '-keyout', file('key.pem'), '-out', file('csr.pem'), '-subj', `/CN=${hosts[0]}`)
  const names = `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}\nbasicConstraints=CA:FALSE\n`
  await writeFile(file('names.cnf'), names)
  const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('names.cnf')]
  await ssl('x509', '-req', '-in', file('csr.pem'), ...signed, '-out', file('cert.pem'), '-days', '2')
  return { ca: file('ca.pem'), key: file('key.pem'), cert: file('cert.pem') }
}
