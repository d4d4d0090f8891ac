{{- define "dynatrain.name" -}}
{{ printf "%s-operator" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "dynatrain.labels" -}}
app.kubernetes.io/name: dynatrain-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "dynatrain.selector" -}}
app.kubernetes.io/name: dynatrain-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dynatrain.rootSecret" -}}
{{ .Values.rootSecret.existingSecret | default (printf "%s-root" (include "dynatrain.name" .)) }}
{{- end }}
