{{/* Names, labels and images. What is made of them is in the other files. */}}

{{/* At most 43 characters, so that every suffix fits into 63. */}}
{{- define "verl.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 43 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 29 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{- define "verl.agent" -}}
{{ include "verl.fullname" . }}-agent
{{- end -}}

{{/* "list . component" */}}
{{- define "verl.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "verl.labels" -}}
{{- $root := index . 0 -}}
{{ include "verl.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* "list . imageValues" */}}
{{- define "verl.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $name := printf "%s/%s" $root.Values.image.registry $image.repository -}}
{{- if $image.digest -}}
{{ $name }}@{{ $image.digest }}
{{- else -}}
{{ $name }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "verl.keySecret" -}}
{{ .Values.operatorKey.existingSecret | default (printf "%s-key" (include "verl.fullname" .)) }}
{{- end -}}

{{/* "list . className" */}}
{{- define "verl.priorityClassName" -}}
{{- $root := index . 0 -}}
{{- if index . 1 -}}
{{ index . 1 }}
{{- else if $root.Values.priorityClasses.components.create -}}
{{ include "verl.fullname" $root }}
{{- end -}}
{{- end -}}

{{/* What both pods have in common: no root, no capability, nothing writable, a token that expires. */}}
{{- define "verl.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "verl.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "verl.tokenVolume" -}}
name: token
projected:
  defaultMode: 0440
  sources:
  - serviceAccountToken: {path: token, expirationSeconds: 3600}
  - configMap:
      name: kube-root-ca.crt
      items: [{key: ca.crt, path: ca.crt}]
  - downwardAPI:
      items: [{path: namespace, fieldRef: {fieldPath: metadata.namespace}}]
{{- end -}}

{{- define "verl.tokenMount" -}}
{name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end -}}
